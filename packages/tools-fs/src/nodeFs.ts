// An `import` of node:fs asks for each of its properties, and with some of them come streams and half of Node.
// That is most of what importing this pack would cost a program, which may never touch a file.
const fs = process.getBuiltinModule("node:fs");
const promises = process.getBuiltinModule("node:fs/promises");

export const {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readSync,
  readlinkSync,
  statSync,
} = fs;
export const {
  access,
  copyFile,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  stat,
  symlink,
  unlink,
} = promises;
