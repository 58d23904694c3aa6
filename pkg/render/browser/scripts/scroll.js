window.scrollTo(0, document.documentElement ? document.documentElement.scrollHeight : 0)
