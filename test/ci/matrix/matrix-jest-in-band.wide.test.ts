/** Which test is named when it dies below `agentdump ci`, in jest with `--runInBand`. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('jest in band', ['assertion', 'crash', 'spin', 'oom']);
