/** A function's scope that retains much: a variable that a callback closes over, intentionally or not. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import { formatBytes } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';
import { accumulationBelow } from '../suspects/accumulation.ts';
import { deepestHolder } from '../suspects/common-holder.ts';
import { isScope, largestVariable } from '../suspects/scope-variable.ts';
import {
  describeNode,
  isLargeShare,
  isModuleData,
  largeNodes,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.1;

export const closuresRule: SuspectRule = {
  name: 'closure-context',
  isGeneral: true,
  find(context) {
    const { heap } = context;
    return (
      largeNodes(context, leastShare)
        .filter((node) => isScope(heap, node))
        .map((node) => ({ node, closure: closureOf(heap, node), variable: largestVariable(heap, node) }))
        // A module's scope may retain much in many variables, of which none is to blame.
        .filter(
          ({ closure, variable }) =>
            closure >= 0 &&
            variable !== undefined &&
            isLargeShare(context, heap.retained[variable.node]!, leastShare),
        )
        .map((found) => ({
          ...found,
          deepest: deepestHolder(heap, accumulationBelow(heap, found.variable!.node)),
        }))
        .filter(({ deepest }) => !isModuleData(context, deepest))
        .slice(0, 3)
        .map(({ node, closure, variable, deepest }) => {
          const [bytes, held] = [heap.retained[node]!, heap.retained[variable!.node]!];
          const inside =
            deepest === variable!.node
              ? ''
              : `; most of that is in ${describeNode(heap, deepest)} at ${placeText(heap, deepest)}`;
          return suspectAt(context, 'closure-context', deepest, held, {
            title: `The variable ${variable!.name} holds ${shareText(held, context)}`,
            sentence: `${scopeText(heap, closure)} keeps ${shareText(bytes, context)} alive, ${formatBytes(held)} of it through the variable ${variable!.name} (reached by ${placeText(heap, closure)})${inside}.`,
            confidence: 'possible',
            evidence: [`the scope's retained size is ${bytes} bytes; the variable's ${held}`],
            refutedBy:
              'The variable is meant to live as long as its scope (a module: as long as the program), and what it holds is bounded.',
          });
        })
    );
  },
};

/** A function that starts at the beginning of its file represents the file's own scope. */
function scopeText(heap: Heap, closure: number): string {
  const source = sourceOf(heap, heap.snapshot.location(closure));
  if (source?.file !== undefined && source.line === 1 && source.column === 1)
    return `The module scope of ${source.file}`;
  const name = heap.snapshot.nodeName(closure) || 'an anonymous function';
  return `The scope of ${name}${source ? ` at ${sourceText(source)}` : ''}`;
}

function closureOf(heap: Heap, contextNode: number): number {
  for (const edge of heap.retainers.to(contextNode))
    if (heap.snapshot.edgeType(edge) === EdgeType.internal && heap.snapshot.edgeName(edge) === 'context')
      return heap.retainers.sourceOf(edge);
  return -1;
}
