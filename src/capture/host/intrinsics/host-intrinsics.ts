/**
 * Intrinsics of the program's realm that must be compared by identity: in our own realm (own-realm.ts) the global names refer
 * to our own intrinsics. There a list of descriptors is created by the main realm's function, and so inherits from the main
 * realm's Object.prototype.
 */
export const hostObjectPrototype: object = Object.getPrototypeOf(Object.getOwnPropertyDescriptors({}));
