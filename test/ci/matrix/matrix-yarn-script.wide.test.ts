/** Which test is named when it dies below `agentdump ci`, in a script that yarn starts. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('yarn script');
