// Plots are drawn when they are scrolled near, in the colors of the page, with an HTML legend.
"use strict";
(() => {
  const NARROW = 560;
  const HEIGHT = 220;
  const drawn = new Map();

  // Plotly is stored compressed and runs before the first plot; the page's policy has its hash.
  let running;
  // Every five digits of base 85 are four bytes; `shell.py` has the same digits.
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%()*+,-./:;=?@[]^_{|";
  const unpacked85 = (text) => {
    const value = new Uint8Array(128);
    for (let digit = 0; digit < 85; digit++) value[DIGITS.charCodeAt(digit)] = digit;
    const bytes = new DataView(new ArrayBuffer(((text.length - 1) / 5) * 4));
    for (let at = 0; at < bytes.byteLength / 4; at++) {
      let number = 0;
      for (let place = 1; place <= 5; place++) number = number * 85 + value[text.charCodeAt(5 * at + place)];
      bytes.setUint32(4 * at, number);
    }
    return bytes.buffer.slice(0, bytes.byteLength - Number(text[0]));  // without what fills the end
  };

  const start = async () => {
    const bytes = unpacked85(document.getElementById("plotly").textContent);
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
  };

  // Text in a figure is escaped for Plotly; the legend shows the original.
  const plain = (text) =>
    text.replaceAll("<br>", " ").replaceAll("&lt;", "<").replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");

  const themed = (layout, canvas) => {
    const style = getComputedStyle(canvas);
    const [ink, line, paper] = [style.color, style.borderTopColor, style.backgroundColor];
    const narrow = canvas.clientWidth < NARROW;
    const titled = (layout.annotations ?? []).some((one) => one.yref === "paper" && one.y >= 1);
    const font = { family: style.fontFamily, size: narrow ? 11 : 13, color: ink };
    const result = {
      bargap: 0.25,
      ...layout,
      font,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: paper, bordercolor: line, font, namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink },
      margin: { l: 8, r: 12, t: titled ? 32 : 16, b: 8, ...layout.margin },
      hovermode: layout.hovermode ?? "closest",
      dragmode: false,
      showlegend: false,
      autosize: true,
      height: canvas.clientHeight,
      shapes: (layout.shapes ?? []).map((shape) => ({
        ...shape, line: { color: ink, ...shape.line },
      })),
      annotations: (layout.annotations ?? []).map((note) => ({
        ...note, bgcolor: paper, font: { ...font, ...note.font, size: narrow ? 10 : 12 },
      })),
    };
    const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
    for (const key of new Set(["xaxis", "yaxis", ...axes])) {
      const axis = layout[key] ?? {};
      result[key] = {
        gridcolor: line, zerolinecolor: line, linecolor: line,
        showgrid: key.startsWith("y"), zeroline: key.startsWith("y"),
        ...axis,
        automargin: true,
        title: {
          standoff: 12,
          ...(typeof axis.title === "string" ? { text: axis.title } : axis.title),
          font,
        },
      };
    }
    return result;
  };

  // Error bars of lines have the color of their line. Labels of points need a wide screen.
  const adapted = (traces, canvas) => {
    const style = getComputedStyle(canvas);
    for (const trace of traces) {
      if (trace.type === "bar" && trace.error_y) trace.error_y.color = style.color;
      if (trace.type === "heatmap" && (trace.themed ??= !trace.colorscale)) {
        trace.colorscale = [[0, style.borderTopColor], [1, "#3b82c4"]];
      }
      if (trace.mode === "markers+text" && canvas.clientWidth < NARROW) trace.mode = "markers";
    }
    return traces;
  };

  const config = () => ({
    responsive: true,
    displaylogo: false,
    displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtons: [["toImage", "zoom2d", "resetScale2d"]],
  });

  const swatch = (trace) => {
    const mark = document.createElement("i");
    const color = trace.line?.color ?? trace.marker?.color;
    mark.style.color = Array.isArray(color) ? color[0] : color;
    const lines = trace.type === "scatter" && trace.mode?.includes("lines");
    mark.className = lines ? "line" : trace.type === "scatter" ? "dot" : "block";
    const dash = lines ? trace.line?.dash : "solid";
    if (dash !== "solid") mark.classList.add(dash === "dot" ? "dotted" : "dashed");
    return mark;
  };

  const legend = (canvas, box, layout) => {
    // Plotly's completed traces, which have the colors that the figure does not set.
    const traces = canvas._fullData;
    const named = traces.filter((trace) => trace.name && trace.showlegend !== false);
    if (layout.showlegend === false || (named.length < 2 && !layout.showlegend)) return;
    for (const trace of named) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(swatch(trace), plain(trace.name));
      const same = (other) =>
        other.index === trace.index || (trace.legendgroup && other.legendgroup === trace.legendgroup);
      button.addEventListener("click", () => {
        const visible = button.getAttribute("aria-pressed") !== "true";
        const group = canvas._fullData.filter(same).map((other) => other.index);
        Plotly.restyle(canvas, { visible: visible ? true : "legendonly" }, group);
        button.setAttribute("aria-pressed", String(visible));
      });
      box.append(button);
    }
  };

  // Long labels make the canvas taller, not the plot smaller.
  const stretch = (canvas) => {
    const missing = HEIGHT - canvas._fullLayout._size.h;
    if (missing <= 0) return undefined;
    canvas.style.height = `${canvas.clientHeight + missing}px`;
    return Plotly.relayout(canvas, { height: canvas.clientHeight });
  };

  const draw = async (figure) => {
    if (drawn.has(figure)) return;
    const canvas = figure.querySelector(".canvas");
    const { data, layout } = JSON.parse(figure.querySelector("script").textContent);
    drawn.set(figure, { data, layout });
    await (running ??= start());
    await Plotly.newPlot(canvas, adapted(data, canvas), themed(layout, canvas), config());
    await stretch(canvas);
    legend(canvas, figure.querySelector(".legend"), layout);
  };

  const figures = [...document.querySelectorAll("figure.plot")];
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "600px 0px" });
  for (const figure of figures) near.observe(figure);

  addEventListener("themechange", () => {
    for (const [figure, { data, layout }] of drawn) {
      const canvas = figure.querySelector(".canvas");
      if (!canvas._fullData) continue; // it will be drawn in the new colors
      Plotly.react(canvas, adapted(data, canvas), themed(layout, canvas), config());
    }
  });
  addEventListener("beforeprint", () => figures.forEach(draw));
})();
