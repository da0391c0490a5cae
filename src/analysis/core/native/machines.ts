/** The supported machines. */
import type { CoreFile } from '../../../formats/elf-core/core-contents.ts';
import type { Machine } from './machine.ts';
import { makeArm64 } from './machine-arm64.ts';
import { x64 } from './machine-x64.ts';

/** The machine of the core, independent of the one that reads it. */
export const machineOf = (core: Pick<CoreFile, 'machine' | 'signatureBits'>): Machine =>
  core.machine === 'arm64' ? makeArm64(core.signatureBits) : x64;
