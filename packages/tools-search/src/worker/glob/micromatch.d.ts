/** The part of micromatch that is used here; the package has no types. */
declare module "micromatch" {
  interface MicromatchOptions {
    readonly dot?: boolean;
    readonly posix?: boolean;
    readonly strictSlashes?: boolean;
    readonly nobrace?: boolean;
  }
  const micromatch: {
    makeRe(pattern: string, options?: MicromatchOptions): RegExp | false;
    scan(pattern: string, options?: MicromatchOptions & { parts: boolean }): { parts: string[] };
    braces(pattern: string, options?: { expand: boolean; nodupes: boolean; keepEscaping: boolean }): string[];
  };
  export = micromatch;
}
