/**
 * Connects the preload and the watch of tests: from the start under `agentdump ci`, otherwise when a reporter asks for it.
 */

import type { Host } from '../../agent/api/context.ts';
import type { TestPort } from '../../agent/api/test-port.ts';
import { CausalContext } from '../../agent/record/causal-context.ts';
import { testRunVariable } from '../../bundle/layout/tests.ts';
import type { CaptureRequest } from '../fatal-path/request.ts';
import { isMainThread, type Surroundings } from '../fatal-path/surroundings.ts';
import { loadTestingHalf, programNameLate } from './half-loader.ts';
import { writeStderrLine } from './stderr-line.ts';

/** From src/register-tests.ts: caches the code compiled so far for the run's next process. Absent elsewhere. */
declare const AGENTDUMP_KEEP_CODE: (() => void) | undefined;
/** From src/register-tests.ts, if this file's text is compiled by a script, which may not import. */
declare const AGENTDUMP_IMPORT: (url: string) => Promise<Record<string, unknown>>;

type Capture = (surroundings: Surroundings, request: CaptureRequest) => string | undefined;

export function watchForTests(surroundings: Surroundings, host: Host, capture: Capture): void {
  const folder = process.env[testRunVariable] || undefined;
  const begin = (): TestPort | undefined => {
    try {
      surroundings.tests ??= loadTestingHalf().installTestWatch({
        causal: surroundings.origins?.causal ?? new CausalContext(),
        folder,
        program: programNameLate(),
        isMainThread,
        // Passed in from here, because a script that was compiled from text may not import without a warning.
        importModule:
          typeof AGENTDUMP_IMPORT === 'undefined'
            ? (url) => import(url) as Promise<Record<string, unknown>>
            : AGENTDUMP_IMPORT,
        keepCode: typeof AGENTDUMP_KEEP_CODE === 'undefined' ? undefined : AGENTDUMP_KEEP_CODE,
        dump: (reason, heap) => capture(withHeap(surroundings, heap), snapshotOf(reason)),
      });
    } catch (error) {
      writeStderrLine(`tests are not watched: ${error instanceof Error ? error.message : String(error)}`);
    }
    return surroundings.tests;
  };
  Object.defineProperty(host, 'tests', { configurable: true, get: begin });
  if (folder !== undefined) begin();
}

function withHeap(surroundings: Surroundings, heap: boolean): Surroundings {
  return { ...surroundings, config: { ...surroundings.config, heap: heap ? 'always' : 'off' } };
}

function snapshotOf(reason: string): CaptureRequest {
  return { kind: 'snapshot-call', handledByHost: false, details: { reason } };
}
