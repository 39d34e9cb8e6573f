"""For the checks of pages whose timeline has bubbles."""

# What the bubble shows, part by part.
SHOWN = '''
(() => {
    const root = document.querySelector('#bubble');
    if (root.hidden)
        return null;
    const of = {title: root.querySelector('h3').textContent, values: {}, rows: {}};
    for (const table of root.querySelectorAll('.values'))
        of.values[table.previousSibling.textContent] =
            [...table.querySelectorAll('tr')].map(row =>
                [...row.children].map(cell => cell.textContent));
    for (const row of root.querySelectorAll('dl div'))
        of.rows[row.querySelector('dt').textContent] =
            row.querySelector('dd').textContent;
    of.frames = [...root.querySelectorAll('ol button')].map(it => it.textContent);
    return of;
})()
'''
