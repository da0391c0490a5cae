/** Which test is named when it dies below `agentdump ci`, in ava. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('ava', ['assertion', 'crash', 'rejection', 'hang', 'cancel', 'oom']);
