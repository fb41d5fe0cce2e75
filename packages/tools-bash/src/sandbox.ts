export type SandboxMode = "off" | "auto" | "require";
export interface SandboxOptions {
  readonly mode: SandboxMode;
  readonly network?: boolean;
  readonly writable?: readonly string[];
}
