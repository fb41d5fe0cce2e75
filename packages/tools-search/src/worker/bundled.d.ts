/** The text of a program made of one TypeScript file and all it imports, for a thread; made by the build. */
declare module "*?bundled" {
  const source: string;
  // biome-ignore lint/style/noDefaultExport: an import of a file that is data has no other form
  export default source;
}
