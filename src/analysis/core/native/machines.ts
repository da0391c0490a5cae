/** The machines whose stacks are walked, each behind the seam of machine.ts. */
import type { CoreFile } from '../../../formats/elf-core/core-contents.ts';
import type { Machine } from './machine.ts';
import { makeArm64 } from './machine-arm64.ts';
import { x64 } from './machine-x64.ts';

/** Of the machine that the core is of, whatever machine reads it. */
export const machineOf = (core: Pick<CoreFile, 'machine' | 'signatureBits'>): Machine =>
  core.machine === 'arm64' ? makeArm64(core.signatureBits) : x64;
