/**
 * Whether the program still starts or is at work already: a module that fails to load then was asked for on demand. Node
 * keeps whether a CommonJS main module ended; what an ES module, or an import() of the main module's, had begun shows only
 * in what is open.
 */
import type { TriggerPart } from '../../bundle/layout/bundle.ts';
import { causesOf } from '../host/cause-chain.ts';
import { findField } from '../host/read-field.ts';

/** Kinds of process.getActiveResourcesInfo that no loader opens; what does not hold the process is not among them. */
const ownWork = new Set([
  'TCPServerWrap',
  'PipeServerWrap',
  'TCPSocketWrap',
  'UDPWrap',
  'Timeout',
  'ProcessWrap',
]);

/** Undefined where nothing shows it. */
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
