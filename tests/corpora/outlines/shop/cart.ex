defmodule Acme.Cart do
  defstruct [:items]
  def items(%__MODULE__{items: items}), do: items
  def sum(cart), do: Acme.Shop.total(cart)
end
