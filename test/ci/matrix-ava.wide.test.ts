/** Which test is named when it dies below `agentdump ci`, in ava. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('ava', ['assertion', 'crash', 'rejection', 'hang', 'cancel', 'oom']);
