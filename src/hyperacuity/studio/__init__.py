"""Web pages for people: label edges, order regions, choose the stronger boundary.

How a page is added
-------------------
A page is a package with one class, in ``page.py``, that holds its inputs and a :class:`~hyperacuity.studio.state.State`, has
``async`` handlers as methods, and a property that returns a :class:`~hyperacuity.studio.web.Page` of them. Nothing is global.

- **State**: a :class:`~hyperacuity.studio.state.Schema` names a page's own tables, if it has any (``choose_…``; raise its version
  when they change; :func:`~hyperacuity.studio.state.insert` gives rows their checksum). ``await state.write(change)`` and
  ``await state.read(query)`` take a function of the connection; a write has been synced to disk when it returns, so respond after
  it. ``State(path, [people.SCHEMA, actions.SCHEMA])`` opens the file.
- **The log** of what people do to images is :mod:`~hyperacuity.studio.actions`, undo and redo included; all else is replayed.
- **Handlers** return :func:`~hyperacuity.studio.web.render` (a template in ``studio/templates``, which extends ``base.html.j2``)
  or Starlette's ``JSONResponse``, read bodies with :func:`~hyperacuity.studio.web.read_json`, check each value with
  :func:`~hyperacuity.studio.web.field`, and raise :class:`~hyperacuity.studio.web.Refused` with a sentence otherwise. What
  takes longer than a few milliseconds (decoding, kernels) goes through ``asyncio.to_thread``, and is kept in a
  :class:`~hyperacuity.studio.cache.Cache` if it is asked for again.
- **Scripts and styles** lie in ``studio/static`` as JavaScript modules and CSS, a folder per page, and are found as
  ``/static/PAGE/NAME``; ``studio.css`` and ``studio.js`` are shared. Nothing inline: the content security policy forbids
  scripts and style attributes in HTML. Hand data over as
  ``<script type="application/json" id="facts">{{ facts | tojson }}</script>``.
  An address in a template starts with ``{{ root }}``, one in a script with ``root`` of ``studio.js`` (``ask`` adds it): a
  proxy may serve the studio below a path.
- **The organiser**: :class:`~hyperacuity.studio.overview.page.Overview` shows who did what and settles differences, given a
  :class:`~hyperacuity.studio.overview.work.Work`; :class:`~hyperacuity.studio.flags.Flags` lets people flag images.
- **People**: :class:`~hyperacuity.studio.people.People` asks newcomers for a name, gives them a link of their own (which the page
  shows: ``{% include "own_link.html.j2" %}``) and recognises them.
- **Files** of finished work go through :func:`~hyperacuity.studio.outputs.write_outputs`, so that they are on the disk and can be
  checked when the studio starts. They must follow from the state alone, byte for byte. Images are
  :class:`~hyperacuity.studio.items.Item` with ids; no path comes from or goes to a browser. A broken image fails its item only.
- **Command**: one function in ``cli/studio.py``, options and printing only.
- **Tests** in ``tests/studio`` use the fixtures ``client_of`` (in process), ``live`` (a server on a free port), ``visit`` (a
  browser's tab that must not log an error), ``serious`` (what axe finds) and ``run_async``. The policy holds for tests too:
  wait for selectors, since Playwright's ``wait_for_function`` would evaluate a string.
"""
