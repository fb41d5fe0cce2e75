/** The text of a program bundled from one TypeScript file and all its imports, for a thread; created by the build. */
declare module "*?bundled" {
  const source: string;
  // biome-ignore lint/style/noDefaultExport: an import of a file that is data has no other form
  export default source;
}
