/**
 * What of the program's realm must be compared by identity: in a realm of our own (own-realm.ts) the names of the language mean
 * our own. There a list of descriptors is made by the main realm's function, and so inherits from the main realm's
 * Object.prototype.
 */
export const hostObjectPrototype: object = Object.getPrototypeOf(Object.getOwnPropertyDescriptors({}));
