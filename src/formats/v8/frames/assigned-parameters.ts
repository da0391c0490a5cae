/**
 * Checks by a function's source whether it may assign one of its parameters. If so, the value that was passed is no longer
 * the parameter's value. If in doubt, the answer is yes.
 */

const anyName = /\beval\b|\barguments\b/;
const declaredPattern = /\b(?:const|let|var)\s+[{[][^=;]*[}\]]\s*=/g;
const assignedPattern = /[\]}]\s*=(?![=>])/;
const assignment = '\\s*(?:=(?![=>])|(?:\\*\\*|<<|>>>?|&&|\\|\\||\\?\\?|[-+*/%&|^])=|\\+\\+|--)';

/** `text`: from the parameters to the closing brace. `parameter`: as spelled in the parameter list. */
export function mayAssign(text: string, parameter: string | undefined): boolean {
  if (parameter === undefined) return false;
  if (anyName.test(text)) return true;
  const name = parameter.replace('...', '');
  // A destructuring pattern has no name for the whole value.
  if (!/^[\p{ID_Start}$_]/u.test(name)) return false;
  if (assignedPattern.test(text.replace(declaredPattern, ''))) return true;
  const plain = name.replaceAll('$', '\\$');
  const before = '(?<![\\p{ID_Continue}$.])';
  const after = '(?![\\p{ID_Continue}$])';
  const loop = `\\bfor\\s*(?:await\\s*)?\\(\\s*${plain}\\s+(?:of|in)\\b`;
  const pattern = `${before}${plain}${after}${assignment}|(?:\\+\\+|--)\\s*${plain}${after}|${loop}`;
  return new RegExp(pattern, 'u').test(text);
}
