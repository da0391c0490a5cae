module.exports = [{ files: ["src/**"], rules: { "no-unused-vars": "error", eqeqeq: "error", "no-debugger": "warn", "no-undef": "error" } }];
