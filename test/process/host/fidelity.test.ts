/**
 * Never worse: on every Node of the run, a program of the table of deaths with the preload ends as it does without, prints
 * the same, and its listeners see the same; the bundles that its death should leave are there. The quick run takes a sample.
 */
import { sampleOf } from '../../support/run/test-nodes.ts';
import { findNodes } from '../../support/victims/run-victim.ts';
import { inTable, testSameAsBare } from './same-as-bare.ts';

for (const node of findNodes()) testSameAsBare(node, sampleOf(inTable, 9));
