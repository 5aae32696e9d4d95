// Search when the site is opened from the file system: browsers refuse workers there, so the
// worker's script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", { data }))
      }
      this.inside.importScripts = async (...urls) => {
        for (const each of urls) await this.load(each)
      }
      this.loaded = this.load(url)
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = reject
        this.inside.document.body.append(script)
      })
    }

    async postMessage(data) {
      await this.loaded
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }))
    }

    terminate() {}
  }
}
