/** Which test is named when it dies below `agentdump ci`, in jest with workers. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('jest workers');
