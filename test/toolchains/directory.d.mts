/** Where the bundlers and runtimes are installed: another place for other versions. */
export function toolchainsDirectory(): string;
