/**
 * Whether the program is still starting or already at work: in the latter case a module that fails to load was loaded on
 * demand. Node records whether a CommonJS main module finished; what an ES module, or an import() by the main module, had
 * started is visible only in the open resources.
 */
import type { TriggerPart } from '../../bundle/layout/bundle.ts';
import { causesOf } from '../host/cause-chain.ts';
import { findField } from '../host/read-field.ts';

/** Kinds of process.getActiveResourcesInfo that no loader opens. The list does not contain unref'd resources. */
const ownWork = new Set([
  'TCPServerWrap',
  'PipeServerWrap',
  'TCPSocketWrap',
  'UDPWrap',
  'Timeout',
  'ProcessWrap',
]);

/** Undefined if nothing indicates it. */
export function findProgramPhase(thrown: unknown): TriggerPart['phase'] {
  try {
    const isLoaded = process.mainModule?.loaded;
    if (isLoaded === false) return 'starting';
    if (isLoaded && isOfRequire(causesOf(thrown).at(-1))) return 'at-work';
    return process.getActiveResourcesInfo().some((kind) => ownWork.has(kind)) ? 'at-work' : undefined;
  } catch {
    return undefined;
  }
}

/** A require throws into its caller, which ran after the main module. */
function isOfRequire(root: unknown): boolean {
  const stack = findField(root, 'stack');
  return (
    typeof stack === 'string' &&
    stack.includes('node:internal/modules/cjs/') &&
    !stack.includes('modules/esm/')
  );
}
