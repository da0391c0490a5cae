/**
 * The tainted program under the supervisor and in a test run: deaths that the process itself couldn't report, CI reports, and
 * what is on disk if the writer is killed.
 */
import { testTainted } from './test-tainted.ts';

const heap = { AGENTDUMP_HEAP: 'always' };

testTainted({
  'an exception under run': { how: 'throw', run: [] },
  'a SIGKILL under run': { how: 'kill', run: [], part: /journal/ },
  'an out-of-memory under run': { how: 'fill', run: [], flags: ['--max-old-space-size=60'] },
  'a test run': { how: 'throw', ci: ['--locals', '--heap', 'always'], part: /summary/ },
  'a kill while the heap is written': { how: 'throw', env: heap, killAt: /heap\.heapsnapshot/ },
  'a kill while a report is written': { how: 'throw', env: heap, killAt: /environment\.json|report\.json/ },
});
