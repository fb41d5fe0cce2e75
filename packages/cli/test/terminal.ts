export { hasTmux, type TerminalOptions, TestTerminal } from "@agent/test-support";
