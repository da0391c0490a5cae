/** All deaths of the table. */
import { testTruth } from './check-truth.ts';
import { truths } from './truths.ts';

for (const truth of truths) testTruth(truth);
