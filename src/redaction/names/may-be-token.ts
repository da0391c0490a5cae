/** Which names are worth a redactor. Without one, so that whoever asks need not carry it. */

/** A token has a digit and is longer than most names; those that are neither cost nothing. */
const shape = /^(?=.*\d).{12}/s;

export const mayBeToken = (name: string): boolean => shape.test(name);
