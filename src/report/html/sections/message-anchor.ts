/** The anchor of a message of the n-th run. Both arguments count from 0, the anchor from 1. */
export const messageAnchor = (run: number, message: number): string => `message-${run + 1}-${message + 1}`;
