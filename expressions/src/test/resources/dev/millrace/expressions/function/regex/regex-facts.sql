-- What PostgreSQL finds: one line for each of the lines in FILE (number, options, pattern, text).
create function pg_temp.found(options text, pattern text, string text) returns text language plpgsql as $$
declare
    result text := '';
    groups text[];
    n int := 0;
begin
    for groups in select regexp_matches(string, pattern, options || 'g') loop
        n := n + 1;
        result := result || regexp_instr(string, pattern, 1, n, 0, options) - 1 || '-'
            || regexp_instr(string, pattern, 1, n, 1, options) - 1 || '{' || array_to_string(groups, '|', 'NULL') || '}';
    end loop;
    return result;
exception when others then
    return 'error';
end $$;
create temp table given (n int, options text, pattern text, string text, nothing text);
\copy given from 'FILE'
copy (select pg_temp.found(options, pattern, string) from given order by n) to stdout;
