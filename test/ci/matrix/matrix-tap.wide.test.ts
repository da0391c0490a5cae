/** Which test is named when it dies below `agentdump ci`, in tap. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('tap', ['assertion', 'crash', 'rejection', 'hang', 'cancel', 'oom']);
