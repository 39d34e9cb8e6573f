"""Names: long ones, and those that look like markup."""

from expect import equal, fail
from profile_page import choose, page_table


def check_names(page, profile):
    """names are cut from the inside and whole on hover"""
    for name, letters, expected in (
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             53, 'std::vector<std::map<\u2026>, std::allocator<\u2026> >::at(int)'),
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             30, 'std::vector<\u2026>::at(int)'),
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             20, 'std::\u2026::at(\u2026)'),
            ('shop::catalog::prices::discount', 30, 'shop::\u2026::prices::discount'),
            ('shop::catalog::prices::discount', 20, 'shop::\u2026::discount'),
            ('shop::catalog::prices::discount', 14, 'shop\u2026discount'),
            ('shop::catalog::prices::discount', 9, 'sho\u2026count'),
            ('operator<< <char>(int)', 20, 'operator<< <\u2026>(int)'),
            ('Foo::operator()(int) const', 24, 'Foo::operator()(\u2026) const'),
            ('a_long_name_in_c', 10, 'a_long\u2026n_c'),
            # (of two halves each, in the browser's strings)
            ('🍎🍎🍎🍎🍎🍎', 8, '🍎🍎…🍎'),
            ('short', 5, 'short')):
        equal(expected, page.eval('swizzle.shortName(%r, %d)' % (
            name, letters)), 'name in %d letters' % letters)
    shown = page.eval('''(() => {
        const cell = document.createElement('span');
        swizzle.putFunction(cell, %d, 120);
        const name = cell.querySelector('.name');
        return [name.textContent, name.title.split('\\n')[0]]; })()''' %
                      page.eval('swizzle.model.catalog.name.indexOf('
                                "'</script><script>hacked=1</script>')"))
    equal('</script><script>hacked=1</script>', shown[1], 'name on hover')
    equal(True, '\u2026' in shown[0] and len(shown[0]) < 20,
          'cut to %r' % shown[0])


def check_shown(page, profile):
    """what is not shown of a command is the same character as in texts"""
    command = page.eval('JSON.stringify(swizzle.model.description)')
    equal(True, 'turned??end' in command, 'command in %s' % command)
    equal(True, 'turned??end' in profile.info(), 'command of -f info')


def check_hostile(page, profile):
    """names that look like markup are text"""
    names = {key[0] for key in page_table(page)}
    for name in ('</script><script>hacked=1</script>',
                 '<img src=x onerror=hacked=2>', "'quoted' & ${hacked=3}",
                 'größe_数', 'invalid_??_bytes'):
        if name not in names:
            fail('no row of ' + name)
        else:
            choose(page, name)
            equal(name, page.eval("document.querySelector('#details h3')"
                                  ".textContent"), 'chosen')
    equal('undefined', page.eval('typeof hacked'), 'a script that ran')
    equal(0, page.eval("document.querySelectorAll('img, b b').length"),
          'elements that names have made')
    if not page.eval("[...document.querySelectorAll('#threads .name')].some("
                     "name => name.textContent === '<b>right')"):
        fail('the name of the thread is not shown as it is')
