/** The same as fidelity.test.ts of the victims that the table of deaths doesn't name: in `.ci/run` each on every other Node. */
import { halfInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { findNodes } from '../../support/victims/run-victim.ts';
import { besideTable, testSameAsBare } from './same-as-bare.ts';

for (const [at, node] of findNodes().entries())
  testSameAsBare(node, halfInTurn(sampleOf(besideTable, 14), at));
