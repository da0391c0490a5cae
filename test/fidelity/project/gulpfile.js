exports.default = (done) => { console.log("gulping"); done(); };
exports.fails = () => Promise.reject(new Error("a task failed"));
