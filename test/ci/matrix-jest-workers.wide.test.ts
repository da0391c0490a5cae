/** Which test is named when it dies below `agentdump ci`, in jest with workers. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('jest workers');
