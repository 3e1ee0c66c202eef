"""Web pages for people: label edges, order regions, choose the stronger boundary.

How a page is added
-------------------
A page is one class in a module of its own that holds its inputs and a :class:`~hyperacuity.studio.state.State`, has ``async``
handlers as methods, and a property that returns a :class:`~hyperacuity.studio.web.Page` of them. Nothing is global.

- **State**: a :class:`~hyperacuity.studio.state.Layout` names the page's tables (``label_…``, ``order_…``; raise its version when
  they change). ``await state.write(change)`` and ``await state.read(query)`` take a function of the connection; a write has
  been synced to disk when it returns, so answer after it. ``State(path, [LAYOUT, people.LAYOUT])`` opens the file.
- **Handlers** return :func:`~hyperacuity.studio.web.render` (a template in ``studio/pages``, which extends ``base.html.j2``) or
  :func:`~hyperacuity.studio.web.answer` (JSON), take bodies by :func:`~hyperacuity.studio.web.read_json`, check each value with
  :func:`~hyperacuity.studio.web.field`, and raise :class:`~hyperacuity.studio.web.Refused` with a sentence otherwise. What
  takes longer than a few milliseconds (decoding, kernels) goes through ``asyncio.to_thread``.
- **Scripts and styles** lie in ``studio/pages`` as JavaScript modules and CSS (sub-folders are fine) and are found as
  ``/static/NAME``; ``studio.css`` and ``studio.js`` are shared. Nothing inline: the content security policy forbids scripts and
  style attributes in HTML. Hand data over as ``<script type="application/json" id="facts">{{ facts | tojson }}</script>``.
- **People**: :class:`~hyperacuity.studio.people.People` asks for a name and knows it again. Images are
  :class:`~hyperacuity.studio.items.Item` with ids; no path comes from or goes to a browser. A broken image fails its item only.
- **Command**: ``cli/studio_NAME.py`` has the verb, built on ``cli/studio_options.py``; ``cli/studio.py`` lists it.
- **Tests** in ``tests/studio`` use the fixtures ``client_of`` (in process), ``live`` (a server on a free port), ``visit`` (a
  browser's tab that may complain of nothing), ``serious`` (what axe finds) and ``run_async``. The policy holds for tests too:
  wait for selectors, since Playwright's ``wait_for_function`` would evaluate a string.
"""
