local M = {}
-- A total.
function M.total(c) return c:sum() end
function M:method() end
local function helper(x) return M.total(x) end
function free() end
M.x = function(a) end
local f = function() end
return M
