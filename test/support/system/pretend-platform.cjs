// Loaded before everything else in a process that is to take itself for one on another system: `process.platform`, and for
// Windows the rules of its file system, over the functions of node:fs. What it can't show is in test/platform/README.md.
'use strict';
const fs = require('node:fs');
const { basename, resolve, sep } = require('node:path');

const name = process.env.PRETEND_PLATFORM;
if (name)
  Object.defineProperty(process, 'platform', {
    ...Object.getOwnPropertyDescriptor(process, 'platform'),
    value: name,
  });
if (name === 'win32') pretendWindows();

function pretendWindows() {
  for (const method of ['getuid', 'geteuid', 'getgid', 'getegid', 'setuid', 'umask']) delete process[method];
  for (const method of ['chmodSync', 'fchmodSync', 'symlinkSync', 'lchownSync', 'chownSync'])
    fs[method] = (path) => refuse('EPERM', method, path);
  const open = new Map();
  const { openSync, closeSync, renameSync, mkdirSync, rmdirSync, unlinkSync } = fs;
  const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
  const requireName = (path, call) => {
    const last = typeof path === 'string' ? basename(path) : '';
    if (/[<>:"|?*\u0000-\u001f]/.test(last) || /[. ]$/.test(last) || device.test(last))
      refuse('ENOENT', call, path);
  };
  const openBelow = (path) => {
    const whole = resolve(String(path));
    return [...open.values()].find((other) => other === whole || other.startsWith(whole + sep));
  };
  fs.openSync = (path, ...rest) => {
    requireName(path, 'open');
    const fd = openSync(path, ...rest);
    if (typeof path === 'string') open.set(fd, resolve(path));
    return fd;
  };
  fs.closeSync = (fd) => {
    closeSync(fd);
    open.delete(fd);
  };
  fs.mkdirSync = (path, ...rest) => {
    requireName(path, 'mkdir');
    return mkdirSync(path, ...rest);
  };
  // A folder keeps its name while something below it is open, and a file that is open can't be replaced.
  fs.renameSync = (from, to) => {
    requireName(to, 'rename');
    const isFolder = fs.lstatSync(from).isDirectory();
    const inTheWay = isFolder ? openBelow(from) : openBelow(to);
    if (inTheWay) refuse('EPERM', 'rename', `${from}: ${inTheWay} is open`);
    return renameSync(from, to);
  };
  // What is removed while it is open is there until it is closed.
  fs.rmdirSync = (path, ...rest) => {
    if (openBelow(path)) refuse('ENOTEMPTY', 'rmdir', path);
    return rmdirSync(path, ...rest);
  };
  fs.unlinkSync = (path) => {
    if (openBelow(path)) refuse('EBUSY', 'unlink', path);
    return unlinkSync(path);
  };
  require('node:module').syncBuiltinESMExports();
}

function refuse(code, call, path) {
  throw Object.assign(new Error(`${code}: not on Windows, ${call} '${path}'`), { code, syscall: call, path });
}
