// A regular expression that is a constant of its file is made when it is first used.
import { parse } from 'acorn';

const longestNew = 20;

/**
 * V8 parses each of them twice, when the text is compiled and when it runs, one with \\p{L} for a millisecond, and of more than a
 * thousand a death uses a few hundred. `text` is a bundled script; a name that is declared in more than one
 * place stays as it is.
 */
export function makeExpressionsLazy(text) {
  const program = parse(text, { ecmaVersion: 'latest', allowReturnOutsideFunction: true });
  const constants = new Map();
  for (const statement of program.body)
    if (statement.type === 'VariableDeclaration')
      for (const { id, init } of statement.declarations)
        if (id.type === 'Identifier' && isExpression(init)) constants.set(id.name, { id, init, uses: [] });
  const places = new Map();
  visit(program, undefined, (node, parent, key) => {
    if (node.type === 'Identifier' && !isOnlyName(parent, key) && !isRead(parent, key))
      places.set(node.name, (places.get(node.name) ?? 0) + 1);
    const constant = node.type === 'Identifier' && constants.get(node.name);
    if (!constant || node === constant.id || isOnlyName(parent, key)) return;
    if (!isRead(parent, key)) constants.delete(node.name);
    else constant.uses.push({ node, isShort: parent.type === 'Property' && parent.shorthand });
  });
  // An expression that is a part of another one would have to be made in its text.
  for (const { uses } of [...constants.values()])
    for (const { node } of uses)
      for (const [name, { init }] of constants)
        if (node.start >= init.start && node.end <= init.end) constants.delete(name);
  // So would one of whose parts another may be made later: a name that is declared again, or assigned.
  for (const [name, { init }] of [...constants])
    visit(init, undefined, (node, parent, key) => {
      const isPart = node.type === 'Identifier' && parent !== undefined && !isOnlyName(parent, key);
      if (isPart && (places.get(node.name) ?? 0) > 1) constants.delete(name);
    });
  const edits = [];
  for (const [name, { init, uses }] of constants) {
    edits.push({
      at: init.start,
      end: init.end,
      by: `()=>${name}$made??=${text.slice(init.start, init.end)}`,
    });
    for (const { node, isShort } of uses) {
      const made = /\bnew\s*$/.test(text.slice(0, node.start).slice(-longestNew))
        ? `(${name}())`
        : `${name}()`;
      edits.push({ at: node.start, end: node.end, by: isShort ? `${name}:${made}` : made });
    }
  }
  let made = '';
  let from = 0;
  for (const { at, end, by } of edits.sort((a, b) => a.at - b.at)) {
    made += text.slice(from, at) + by;
    from = end;
  }
  const names = [...constants.keys()].map((name) => `${name}$made`);
  const declared = names.length > 0 ? `var ${names.join(',')};` : '';
  return declared + made + text.slice(from);
}

/** esbuild writes a literal as a call if the text has a character that is not ASCII. */
function isExpression(init) {
  if (init?.regex) return true;
  return init?.type === 'NewExpression' && init.callee.name === 'RegExp' && init.arguments.every(isText);
}

/** Made of texts and of names of other constants, which are the same later. */
function isText({ type, expressions = [], tag, quasi, left, right }) {
  if (type === 'Literal' || type === 'Identifier') return true;
  if (type === 'TemplateLiteral') return expressions.every(isText);
  if (type === 'BinaryExpression') return isText(left) && isText(right);
  if (type !== 'TaggedTemplateExpression') return false;
  return tag.object?.name === 'String' && tag.property.name === 'raw' && isText(quasi);
}

/** The name of a property, a method or a label. */
function isOnlyName({ type, computed, shorthand }, key) {
  if (type === 'MemberExpression') return key === 'property' && !computed;
  if (type === 'Property') return key === 'key' && !computed && !shorthand;
  if (type === 'MethodDefinition' || type === 'PropertyDefinition') return key === 'key' && !computed;
  return type === 'LabeledStatement' || type === 'BreakStatement' || type === 'ContinueStatement';
}

/** Everything that declares or assigns is excluded, also as part of a pattern. */
function isRead({ type, isPattern }, key) {
  if (isPattern) return false;
  if (type === 'VariableDeclarator') return key === 'init';
  if (type === 'AssignmentExpression' || type === 'AssignmentPattern') return key === 'right';
  if (/Function|^Class/.test(type)) return key === 'body' || key === 'superClass';
  return !/^(?:UpdateExpression|CatchClause|RestElement|ArrayPattern|ForInStatement|ForOfStatement)$/.test(
    type,
  );
}

function visit(node, parent, see, key) {
  if (typeof node.type !== 'string') return;
  see(node, parent, key);
  for (const name of Object.keys(node)) {
    const child = node[name];
    if (node.type === 'Property' && node.shorthand && name === 'key') continue;
    for (const one of Array.isArray(child) ? child : [child])
      if (one && typeof one === 'object') {
        if (node.type === 'ObjectPattern') one.isPattern = true;
        visit(one, node, see, name);
      }
  }
}
