/** Where a message of the n-th run is found on the page; both counts begin with 0, the anchor's with 1. */
export const messageAnchor = (run: number, message: number): string => `message-${run + 1}-${message + 1}`;
