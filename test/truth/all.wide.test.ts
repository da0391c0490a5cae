/** All deaths of the table; in `.ci/run` a fifth with each commit. */
import { partInTurn } from '../support/run/test-nodes.ts';
import { testTruth } from './check-truth.ts';
import { truths } from './truths.ts';

for (const truth of partInTurn(truths, 5)) testTruth(truth);
