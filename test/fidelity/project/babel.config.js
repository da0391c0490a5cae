module.exports = { presets: [["@babel/preset-env", { targets: "chrome 60" }]] };
