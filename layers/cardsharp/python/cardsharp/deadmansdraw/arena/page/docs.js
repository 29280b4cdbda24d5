// The API's description at /api as a page; everything is put on it as text, never as HTML.

const METHODS = ["get", "post", "put", "delete"];

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

const pretty = (value) => make("pre", "", JSON.stringify(value, null, 2));
const rows = (entries) => make("table", "", ...entries.map(([name, text]) =>
  make("tr", "", make("td", "", make("code", "", name)), make("td", "", text))));

function operation(path, method, about) {
  const body = about.requestBody?.content?.["application/json"] ?? null;
  return make("details", "operation",
    make("summary", "", make("span", `method ${method}`, method.toUpperCase()),
      make("code", "", path), make("span", "muted", about.summary ?? "")),
    make("p", "", about.description ?? ""),
    rows((about.parameters ?? []).map((one) => [one.name, one.description ?? ""])),
    ...(body ? [make("h3", "", "Body"), ...Object.values(body.examples ?? {}).map((one) => pretty(one.value))] : []),
    make("h3", "", "Answers"),
    rows(Object.entries(about.responses).map(([status, one]) => [status, one.description])));
}

const description = await (await fetch(new URL("/api", location.origin))).json();
document.getElementById("title").textContent = description.info.title;
document.getElementById("about").textContent = description.info.description;
document.getElementById("operations").append(
  ...Object.entries(description.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => operation(path, method, methods[method]))));
document.getElementById("schemas").append(
  ...Object.entries(description.components.schemas).map(([name, schema]) =>
    make("details", "operation", make("summary", "", make("code", "", name)), pretty(schema))));
