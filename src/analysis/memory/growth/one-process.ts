/**
 * How one process is distinguished from two. Two processes of one program have many ids in common, too. Within one process
 * the nodes of an id have the same type (except where V8 replaces an object in place, such as a flattened string); between
 * two, most nodes outside of V8's own differ.
 */
const leastCommonShare = 0.1;
const mostOtherTypes = 0.02;

/** @param otherType how many of the common ids have another type in the later snapshot. */
export function areOfOneProcess(common: number, earlier: number, otherType: number): boolean {
  return common >= earlier * leastCommonShare && otherType <= common * mostOtherTypes;
}
