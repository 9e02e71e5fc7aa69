{% snapshot customers_snapshot %}
{{ config(target_schema='snap', unique_key='customer', strategy='check', check_cols=['total']) }}
select * from {{ ref('customers') }}
{% endsnapshot %}
