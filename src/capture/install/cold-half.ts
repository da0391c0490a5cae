/**
 * The half of the preload that runs only at a death or a snapshot: collectors, redactor, writer. The build embeds it as text
 * in the preload's single file, so that a program that never dies pays for scanning a string and not for compiling 150 KB
 * (measured: 3 ms of CPU on Node 20–24). Exports everything that the hot half may call.
 */

export { unwatchedFolder } from '../../platform/watched-folder.ts';
export { captureBundle } from '../fatal-path/fatal-path.ts';
export { HandledErrors } from '../fatal-path/handled-errors.ts';
export { captureSilent } from '../fatal-path/silent-path.ts';
export { armCreators } from '../stacks/creator-stacks.ts';
export { armLocals, whyNotArmed } from '../stacks/locals-recorder.ts';
export { keepCode } from './keep-code.ts';
