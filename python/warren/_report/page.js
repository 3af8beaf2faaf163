// SPDX-License-Identifier: Apache-2.0
// Draws the page's charts in the colours that are wanted and the width that there is, and sorts its tables.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Pages that are opened as files may have no storage.
  const remembered = () => { try { return localStorage.getItem("warren-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("warren-theme", theme); } catch { /* The choice is for this view. */ } };
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  const views = new Map();
  let turn = 0;

  async function draw(place, mine) {
    const box = document.getElementById(`chart-${place}`);
    const { spec, file } = data.charts[place];
    const width = Math.floor(box.clientWidth);
    const sized = { width, autosize: { type: "fit-x", contains: "padding" }, params: [{ name: "room", value: width }], ...structuredClone(spec) };
    views.get(place)?.finalize();
    const drawn = await vegaEmbed(box, sized, {
      mode: "vega-lite", renderer: "svg", ast: true, config: data.themes[theme()], downloadFileName: file, tooltip: { theme: theme() },
      actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
    });
    if (mine !== turn) return;
    views.set(place, drawn);
    box.querySelector("summary")?.setAttribute("aria-label", "Save the chart");
  }

  async function drawAll() {
    const mine = ++turn;
    for (let place = 0; place < data.charts.length && mine === turn; ++place) {
      try {
        await draw(place, mine);
      } catch (error) {
        console.error(error);
        document.getElementById(`chart-${place}`).textContent = "This chart could not be drawn; its numbers are below.";
      }
    }
    if (mine === turn) root.dataset.drawn = String(data.charts.length);
  }

  function nameButton() {
    button.textContent = theme() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme() === "dark" ? "light" : "dark"} colours`);
  }

  function sort(heading) {
    const table = heading.closest("table");
    const body = table.tBodies[0];
    const column = heading.cellIndex;
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent;
    };
    const compare = (a, b) => {
      // Empty cells stay last, numbers stand before texts.
      if (a === "" || b === "") return (a === "") - (b === "");
      if (typeof a !== typeof b) return direction * (typeof a === "number" ? -1 : 1);
      return direction * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
    };
    const rows = Array.from(body.rows, (row) => [key(row), row]);
    rows.sort((a, b) => compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  }

  const wished = remembered();
  if (wished === "dark" || wished === "light") root.dataset.theme = wished;
  button.hidden = false;
  nameButton();
  button.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    remember(root.dataset.theme);
    nameButton();
    drawAll();
  });
  dark.addEventListener("change", () => { nameButton(); drawAll(); });
  document.addEventListener("click", (event) => {
    const heading = event.target.closest?.("th");
    if (heading) sort(heading);
  });
  let width = window.innerWidth;
  let waiting = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  if (data.charts.length > 0) drawAll(); else root.dataset.drawn = "0";
})();
