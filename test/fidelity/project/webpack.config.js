module.exports = { mode: "production", entry: "./src/es/main.mjs", output: { path: __dirname + "/out" } };
