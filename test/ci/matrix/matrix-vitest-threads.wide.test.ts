/** Which test is named when it dies below `agentdump ci`, in vitest with threads. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('vitest threads');
