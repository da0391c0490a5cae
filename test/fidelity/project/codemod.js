module.exports = (file, { jscodeshift }) => jscodeshift(file.source).find(jscodeshift.Identifier, { name: "total" }).replaceWith(jscodeshift.identifier("sum")).toSource();
