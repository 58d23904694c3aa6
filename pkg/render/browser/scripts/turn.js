new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))
