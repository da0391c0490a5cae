/** Which test is named when it dies below `agentdump ci`, in playwright. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('playwright', ['assertion', 'crash', 'rejection', 'hang', 'cancel', 'oom']);
