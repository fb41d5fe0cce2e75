/** A WebAssembly text file, assembled by the build. */
declare module "*.wat" {
  const bytes: Uint8Array;
  // biome-ignore lint/style/noDefaultExport: an import of a file that is data has no other form
  export default bytes;
}
